/**
 * SecretScan by secretlint, in a thread of its own: a text that makes a pattern run for ever ends with the thread and
 * not with the daemon, and what the scanner collects about its own speed goes when the thread goes. The thread is
 * started by the first text and ended when there has been none for a while.
 */
import { Worker } from "node:worker_threads";
import { type Deferred, deferred } from "../../base/deferred.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { type SecretFinding, type SecretScan, maxScanBytes } from "../../ports/secret-scan.ts";
import type { Batch, BatchResult } from "./scan-thread.ts";

export interface SecretScanLimits {
  /** For one batch, which is at most `maxScanBytes` and a text. */
  readonly batchMs: number;
  readonly idleMs: number;
}

interface Waiting extends Deferred<readonly SecretFinding[]> {
  readonly text: string;
  readonly fileName: string;
}

/** SECURITY: rules see one of these and never the path itself, which the box has chosen. */
function nameForRules(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (name === "package.json" || name === "package-lock.json") return "package.json";
  return name.endsWith(".npmrc") ? ".npmrc" : "text";
}

export function openSecretScan(limits: SecretScanLimits = { batchMs: 5_000, idleMs: 10_000 }): SecretScan {
  const queue: Waiting[] = [];
  let thread: Worker | undefined;
  let isWorking = false;
  let idle: NodeJS.Timeout | undefined;

  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    clearTimeout(idle);
    // So that all calls of this turn are in the first batch.
    await Promise.resolve();
    for (let batch = nextBatch(queue); batch.length > 0; batch = nextBatch(queue)) await settle(batch);
    isWorking = false;
    idle = setTimeout(stop, limits.idleMs).unref();
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    const results = await ask(batch, limits.batchMs).catch(() => undefined);
    if (results) return batch.forEach((one, at) => one.resolve(results[at] ?? []));
    stop();
    // One bad text must not cost its neighbours their scan; together they get the same time once more.
    const endMs = performance.now() + limits.batchMs;
    for (const one of batch) {
      const leftMs = batch.length > 1 ? endMs - performance.now() : 0;
      const result = leftMs > 0 ? await ask([one], leftMs).catch(() => undefined) : undefined;
      if (result) one.resolve(result[0] ?? []);
      else {
        stop();
        one.reject(new AgentBoxError("review.failed", "A file could not be searched for secrets."));
      }
    }
  }

  async function ask(batch: readonly Waiting[], ms: number): Promise<BatchResult> {
    thread ??= await startThread((ended) => {
      if (thread === ended) thread = undefined;
    });
    const answer = deferred<BatchResult>();
    const timer = setTimeout(() => answer.resolve(undefined), ms);
    const fail = () => answer.resolve(undefined);
    thread.once("message", answer.resolve).once("error", fail).once("exit", fail).ref();
    thread.postMessage({
      fileName: batch[0]!.fileName,
      texts: batch.map(({ text }) => text),
    } satisfies Batch);
    const result = await answer.promise;
    clearTimeout(timer);
    thread.off("message", answer.resolve).off("error", fail).off("exit", fail).unref();
    return result;
  }

  function stop(): void {
    void thread?.terminate();
    thread = undefined;
  }

  return {
    async scan(text, path) {
      if (text.length > maxScanBytes) {
        throw new AgentBoxError("review.too_large", "The file is too large to be searched for secrets.");
      }
      const waiting = { ...deferred<readonly SecretFinding[]>(), text, fileName: nameForRules(path) };
      queue.push(waiting);
      void work();
      return waiting.promise;
    },
  };
}

/** Takes from the queue: texts for the same rules, together no more than one large text. */
function nextBatch(queue: Waiting[]): Waiting[] {
  const batch: Waiting[] = [];
  let chars = 0;
  while (queue[0] && queue[0].fileName === (batch[0]?.fileName ?? queue[0].fileName)) {
    chars += queue[0].text.length;
    if (batch.length > 0 && chars > maxScanBytes) break;
    batch.push(queue.shift()!);
  }
  return batch;
}

async function startThread(onExit: (thread: Worker) => void): Promise<Worker> {
  const { threadFile, threadRole } = await import("./scan-thread.ts");
  const thread = new Worker(new URL(threadFile), {
    workerData: threadRole,
    // SECURITY: with DEBUG set, the scanner would print what it scans.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  // Between batches there is no listener, and an error without a listener would end the daemon.
  thread.on("error", () => undefined).on("exit", () => onExit(thread));
  thread.unref();
  return thread;
}
