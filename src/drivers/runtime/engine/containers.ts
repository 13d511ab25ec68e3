/** The containers of one installation at an engine: found by label, looked at, and asked for their last words. */
import type Docker from "dockerode";
import { printable } from "../../../base/printable.ts";
import type { RuntimeStatus } from "../../../ports/runtime.ts";
import { identify, lives } from "../process-tree.ts";
import { signalFreezer } from "../signal-freezer.ts";
import { type Installation, label, labelFilter } from "./labels.ts";

/** One container as the engine tells it, in the few words that matter here. */
export interface Found {
  readonly id: string;
  readonly name: string;
  readonly phase: RuntimeStatus["phase"];
  readonly pid: number | undefined;
  readonly exitCode: number | undefined;
}

const keptBytes = 16 * 1024;

export class Containers {
  readonly #client: Docker;
  readonly #installation: Installation;
  /** Without control groups the engine can neither freeze a box nor know that it is frozen. */
  readonly #freezesBySignals: boolean;

  constructor(client: Docker, installation: Installation, freezesBySignals: boolean) {
    this.#client = client;
    this.#installation = installation;
    this.#freezesBySignals = freezesBySignals;
  }

  /** All of them, or those of one box: that is one, unless a daemon was killed at a bad moment. */
  async list(box?: string): Promise<readonly Found[]> {
    const filters = { label: [...labelFilter(this.#installation, box)] };
    const listed = await this.#client.listContainers({ all: true, filters });
    const found = await Promise.all(
      listed.flatMap(({ Id, Labels }) => {
        const name = Labels[label.box];
        return name === undefined ? [] : [this.inspect(Id, name)];
      }),
    );
    return found.filter((one) => one !== undefined);
  }

  async find(box: string): Promise<Found | undefined> {
    return (await this.list(box))[0];
  }

  /** Undefined when it is gone by now. */
  async inspect(id: string, name: string): Promise<Found | undefined> {
    const answer = await this.#client
      .getContainer(id)
      .inspect()
      .catch((error: unknown) => {
        if (isGone(error)) return undefined;
        throw error;
      });
    if (answer === undefined) return undefined;
    const { State: state } = answer;
    const isAlive = state.Running || state.Paused;
    if (!isAlive) {
      const wasStarted = state.Status !== "created" && state.Status !== "configured";
      return {
        id,
        name,
        phase: "stopped",
        pid: undefined,
        exitCode: wasStarted ? state.ExitCode : undefined,
      };
    }
    const isPaused = state.Paused || (this.#freezesBySignals && (await isFrozen(name, state.Pid)));
    return { id, name, phase: isPaused ? "paused" : "running", pid: state.Pid, exitCode: undefined };
  }

  async status(found: Found): Promise<RuntimeStatus> {
    const { id, name, phase, pid, exitCode } = found;
    if (phase !== "stopped") return { name, phase, pid };
    return { name, phase, exitCode, diagnostics: await this.lastWords(id) };
  }

  /** SECURITY: the box's own text, and of any size as far as the box is concerned; it is shown in a terminal. */
  async lastWords(id: string): Promise<string | undefined> {
    const answer: unknown = await this.#client
      .getContainer(id)
      .logs({ stdout: true, stderr: true, follow: false, tail: 50 })
      .catch(() => undefined);
    const bytes = Buffer.isBuffer(answer) ? answer : Buffer.alloc(0);
    const text = withoutFrames(bytes).subarray(-keptBytes).toString();
    return text.trim() === "" ? undefined : text.split("\n").map(printable).join("\n").trim();
  }
}

async function isFrozen(name: string, pid: number): Promise<boolean> {
  const first = await identify(pid);
  return first !== undefined && (await lives(first)) && signalFreezer.isFrozen(name, first);
}

/** Logs come in frames: eight bytes that say which stream and how much, then the text. */
function withoutFrames(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + 8, at + 8 + size));
    at += 8 + size;
  }
  return Buffer.concat(parts);
}

/** HTTP status of an engine's answer, where the error is one. */
export const engineStatus = (error: unknown): number | undefined =>
  typeof error === "object" && error !== null && "statusCode" in error && typeof error.statusCode === "number"
    ? error.statusCode
    : undefined;

export const isGone = (error: unknown): boolean => engineStatus(error) === 404;
