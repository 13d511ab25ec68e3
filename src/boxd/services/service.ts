import { resolve } from "node:path";
import { backoffMs } from "../../base/backoff.ts";
import { messageOf } from "../../base/errors.ts";
import type { ServiceSpec } from "../../contract/box.ts";
import type { BoxdConfig, ServiceStatus } from "../../contract/link/messages.ts";
import { boxEnv } from "../box-config.ts";
import { OutputRing } from "../output/output-ring.ts";
import { startWithPipes } from "../programs/pipe-program.ts";
import type { Program, ProgramEnd, ProgramSink, ProgramSpec } from "../programs/program.ts";
import { type ReadinessWatch, watchReadiness } from "./readiness.ts";

const backoff = { firstMs: 500, maxMs: 30_000, random: Math.random };
/** A service that was ready for this long starts again from the shortest wait. */
const steadyMs = 60_000;

/** One service of the manifest: started, watched until it is ready, and started again as its policy says. */
export class Service implements ProgramSink {
  readonly spec: ServiceSpec;
  readonly ring = new OutputRing();
  readonly #config: BoxdConfig;
  readonly #onChange: (service: Service) => void;
  #state: ServiceStatus["state"] = "waiting";
  #message = "";
  #restarts = 0;
  #attempt = 0;
  #exitCode: number | null = null;
  #running: Program | undefined;
  #readySinceMs = 0;
  #isStopping = false;
  #failure = "";
  #cancelReadiness: () => void = () => undefined;
  #onText: (chunk: Uint8Array) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(spec: ServiceSpec, config: BoxdConfig, onChange: (service: Service) => void) {
    this.spec = spec;
    this.#onChange = onChange;
    this.#config = config;
  }

  get state(): ServiceStatus["state"] {
    return this.#state;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Whether services that come after this one may start; a task that has ended well counts. */
  get isSatisfied(): boolean {
    return this.#state === "ready" || (this.#state === "stopped" && this.#exitCode === 0);
  }

  get status(): ServiceStatus {
    return {
      name: this.spec.name,
      state: this.#state,
      restarts: this.#restarts,
      exitCode: this.#exitCode,
      message: this.#message.slice(0, 1000),
      outputBytes: this.ring.total,
    };
  }

  async start(): Promise<void> {
    this.#failure = "";
    this.#become("starting");
    const program = this.#program();
    let watch: ReadinessWatch;
    try {
      watch = watchReadiness(this.spec, program, {
        ready: () => this.#ready(),
        late: () => this.#late(),
      });
      this.#cancelReadiness = watch.cancel;
      this.#onText = watch.output;
      this.#running = await startWithPipes(program, this);
    } catch (error) {
      this.#failure = messageOf(error);
      this.#over({ code: null, signal: null });
      return;
    }
    this.#running.endInput();
    if (this.#isStopping) this.#running.signal("SIGTERM");
    else watch.begin();
  }

  /** The service cannot run, and nothing will be tried again. */
  fail(message: string): void {
    this.#become("failed", message);
    this.ring.end();
  }

  signal(signal: NodeJS.Signals): void {
    this.#running?.signal(signal);
  }

  /** From now on an end is final. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    clearTimeout(this.#timer);
    if (this.#running) this.#running.signal("SIGTERM");
    else if (this.#state !== "failed") this.#finish("stopped", "");
  }

  output(chunk: Uint8Array, channel: 1 | 2): void {
    this.ring.append(chunk, channel);
    this.#onText(chunk);
  }

  drained(): void {
    // Services get no input.
  }

  ended(end: ProgramEnd): void {
    this.#running = undefined;
    this.#over(end);
  }

  /** When it starts and not before: the box may have been given variables since it booted. */
  #program(): ProgramSpec {
    const { argv, env, cwd = "." } = this.spec;
    return { argv, env: boxEnv(this.#config, env), cwd: resolve(this.#config.workspace, cwd) };
  }

  #ready(): void {
    this.#readySinceMs = performance.now();
    this.#become("ready");
  }

  #late(): void {
    this.#failure = `It was not ready after ${this.spec.readyTimeoutMs} ms.`;
    this.signal("SIGKILL");
  }

  #over({ code, signal }: ProgramEnd): void {
    this.#cancelReadiness();
    this.#exitCode = code;
    const hasFailed = this.#failure !== "" || code !== 0;
    const message = this.#failure || (code === 0 ? "It ended." : `It ended with ${code ?? signal}.`);
    if (this.#isStopping) return this.#finish("stopped", message);
    const { restart } = this.spec;
    if (restart === "always" || (restart === "on-failure" && hasFailed)) return this.#restartLater(message);
    this.#finish(hasFailed ? "failed" : "stopped", message);
  }

  #restartLater(message: string): void {
    const wasSteady = this.#readySinceMs > 0 && performance.now() - this.#readySinceMs >= steadyMs;
    if (wasSteady) this.#attempt = 0;
    this.#readySinceMs = 0;
    this.#timer = setTimeout(
      () => {
        this.#restarts += 1;
        void this.start();
      },
      backoffMs(this.#attempt, backoff),
    );
    this.#attempt += 1;
    this.#become("backing_off", message);
  }

  #finish(state: "stopped" | "failed", message: string): void {
    this.#become(state, message);
    this.ring.end();
  }

  #become(state: ServiceStatus["state"], message = ""): void {
    this.#state = state;
    this.#message = message;
    this.#onChange(this);
  }
}
