/** The few commands a simulated box knows. Nothing is run on the host. */
export interface BuiltinExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Builtin {
  readonly exit: Promise<BuiltinExit>;
  input(chunk: Uint8Array): void;
  endInput(): void;
  kill(signal: string): void;
}

type Start = (
  args: readonly string[],
  write: (chunk: Uint8Array) => void,
  end: (code: number) => void,
) => Partial<Builtin>;

const text = new TextEncoder();

const commands: Record<string, Start> = {
  true: (_args, _write, end) => (end(0), {}),
  false: (_args, _write, end) => (end(1), {}),
  exit: (args, _write, end) => (end(Number(args[0] ?? 0) & 0xff), {}),
  echo(args, write, end) {
    write(text.encode(`${args.join(" ")}\n`));
    end(0);
    return {};
  },
  cat: (_args, write, end) => ({ input: write, endInput: () => end(0) }),
  sleep(args, _write, end) {
    const seconds = Math.max(0, Number(args[0] ?? 0) || 0);
    setTimeout(() => end(0), Math.min(seconds * 1000, 2 ** 31 - 1)).unref();
    return {};
  },
};

/** Undefined when there is no such command. */
export function startBuiltin(
  argv: readonly string[],
  write: (chunk: Uint8Array) => void,
): Builtin | undefined {
  const start = Object.hasOwn(commands, argv[0]!) ? commands[argv[0]!] : undefined;
  if (start === undefined) return undefined;
  let finish!: (exit: BuiltinExit) => void;
  const exit = new Promise<BuiltinExit>((resolve) => {
    finish = resolve;
  });
  const ignore = (): void => undefined;
  const { input = ignore, endInput = ignore } = start(argv.slice(1), write, (code) =>
    finish({ code, signal: null }),
  );
  return { exit, input, endInput, kill: (signal) => finish({ code: null, signal }) };
}
