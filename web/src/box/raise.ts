/** By how much a budget is raised, from the text that was typed. Pure. */
export type Raise = { readonly tokens?: number; readonly microUsd?: number } | { readonly problem: string };

export function parseRaise(tokens: string, usd: string): Raise {
  const digits = tokens.replaceAll(/[\s,_]/g, "");
  const amount = usd.trim().replace(/^\$\s*/, "");
  if (digits === "" && amount === "") return { problem: "Say by how much." };
  if (digits !== "" && !/^[1-9]\d{0,14}$/.test(digits)) return { problem: "Tokens are a whole number." };
  if (amount !== "" && !/^\d{1,9}(\.\d{1,6})?$/.test(amount)) return { problem: "Write dollars as 2.50." };
  const microUsd = Math.round(Number(amount) * 1_000_000);
  if (amount !== "" && microUsd === 0) return { problem: "Write dollars as 2.50." };
  return {
    ...(digits === "" ? {} : { tokens: Number(digits) }),
    ...(amount === "" ? {} : { microUsd }),
  };
}
