/** An injection for the tests of the gate: one secret, one place, and every part of the port seen to be used. */
import { Transform } from "node:stream";
import { AgentBoxError } from "../../base/errors.ts";
import type { AnswerGuard, Injection, OutgoingRequest, Prepared } from "../../ports/injection.ts";

export const value = "s3cret-canary-value";
export const placeholder = "placeholder-of-amber";

const masked = (text: string): string => text.replaceAll(value, "*".repeat(value.length));

/** Gives on what `change` makes of the whole stream. */
const whole = (change: (text: string) => string): Transform => {
  const chunks: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
    flush(done) {
      done(null, Buffer.from(change(Buffer.concat(chunks).toString("latin1")), "latin1"));
    },
  });
};

/** Fails as soon as the placeholder has passed, in however many pieces. */
const scan = (): Transform => {
  let tail = "";
  return new Transform({
    transform(chunk: Buffer, _, done) {
      tail = (tail + chunk.toString("latin1")).slice(-4_096);
      if (!tail.includes(placeholder)) return done(null, chunk);
      const facts = { secret: "github" };
      done(
        new AgentBoxError("secret.misplaced", "The body has a placeholder.", { hint: "Take it out.", facts }),
      );
    },
  });
};

export const guard: AnswerGuard = {
  open(_, rawHeaders) {
    if (rawHeaders.includes("x-unreadable")) return undefined;
    const headers = rawHeaders.map(masked);
    return { headers, body: whole(masked) };
  },
  stream: () =>
    new Transform({
      transform: (chunk: Buffer, _, done) =>
        done(null, Buffer.from(masked(chunk.toString("latin1")), "latin1")),
    }),
};

export interface FakeInjection extends Injection {
  /** `host:port` of the places that are managed. */
  readonly managed: Set<string>;
  readonly requests: OutgoingRequest[];
  /** What the next requests to a managed place get; a bearer unless told. */
  decide: (request: OutgoingRequest, signal: AbortSignal) => Prepared | Promise<Prepared>;
}

export const inject = (request: OutgoingRequest): Extract<Prepared, { outcome: "inject" }> => ({
  outcome: "inject",
  secret: "github",
  headers: [...request.headers, "Authorization", `Bearer ${value}`],
  path: request.path,
  body: request.hasBody ? scan() : undefined,
  answer: guard,
});

export const refuse = (
  reason: Extract<Prepared, { outcome: "refuse" }>["reason"],
): Extract<Prepared, { outcome: "refuse" }> => ({
  outcome: "refuse",
  reason,
  secret: "github",
  message: `The secret says ${reason}.`,
  hint: "Ask a person.",
});

export function fakeInjection(...managed: string[]): FakeInjection {
  const fake: FakeInjection = {
    managed: new Set(managed),
    requests: [],
    decide: inject,
    setBox: () => undefined,
    drop: () => undefined,
    manages: (_, host, port) => fake.managed.has(`${host}:${port}`),
    prepare(_, request, signal) {
      fake.requests.push(request);
      if (fake.managed.has(`${request.host}:${request.port}`)) return fake.decide(request, signal);
      return { outcome: "pass", body: request.hasBody ? scan() : undefined };
    },
    placeholders: () => ({}),
  };
  return fake;
}
