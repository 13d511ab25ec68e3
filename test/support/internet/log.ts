/** The requests that reached the test's internet, in order. The tests read it to know what left a box. */
export type Arrival =
  | { readonly kind: "dns"; readonly name: string; readonly type: string; readonly via: string }
  | { readonly kind: "tcp"; readonly address: string; readonly port: number }
  | {
      readonly kind: "http";
      readonly host: string;
      readonly method: string;
      readonly url: string;
      readonly version: string;
      readonly headers: Readonly<Record<string, unknown>>;
      readonly bodyBytes: number;
    }
  /** Every byte that one connection to the raw server carried. */
  | { readonly kind: "raw"; readonly text: string };

const arrivals: Arrival[] = [];

export const arrived = (arrival: Arrival): void => void arrivals.push(arrival);
export const allArrivals = (): readonly Arrival[] => arrivals;
export const forgetArrivals = (): void => void arrivals.splice(0);
