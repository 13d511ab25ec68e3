/** The few commands a simulated box knows. No program is run on the host. */
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
  env: Readonly<Record<string, string>>,
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
  printenv([name = ""], write, end, env) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined) write(text.encode(`${value}\n`));
    end(value === undefined ? 1 : 0);
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
  env: Readonly<Record<string, string>> = {},
): Builtin | undefined {
  const start = Object.hasOwn(commands, argv[0]!) ? commands[argv[0]!] : undefined;
  if (start === undefined) return undefined;
  let finish!: (exit: BuiltinExit) => void;
  const exit = new Promise<BuiltinExit>((resolve) => {
    finish = resolve;
  });
  const ignore = (): void => undefined;
  const end = (code: number): void => finish({ code, signal: null });
  const { input = ignore, endInput = ignore } = start(argv.slice(1), write, end, env);
  return { exit, input, endInput, kill: (signal) => finish({ code: null, signal }) };
}
