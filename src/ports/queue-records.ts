/**
 * Records of the queue, in the store with everything else. They say who added a task and how they came in, so that it
 * can be judged again when it starts. SECURITY: values of the caller's variables are in none of them.
 */
import type { Verdict } from "../contract/agent-events.ts";
import type { QueueState, QueueTotal } from "../contract/api/schemas/queue.ts";
import type { CreateBox } from "../contract/api/schemas.ts";
import type { Holder } from "./access-records.ts";

/** Who added a task, and how. */
export interface Adder {
  readonly holder: Holder;
  readonly credential: "socket" | "session" | "token";
  /** The token that it was added with, and without which it does not start. */
  readonly token?: string | undefined;
  /** Whether what they typed was an order; a right that came later changes nothing about it. */
  readonly mayOrder: boolean;
}

export interface TaskRecord {
  readonly kind: "task";
  readonly id: number;
  /** Whose queue it is in: the id of a person, or "" for the owner. */
  readonly queue: string;
  /** Its place; the smallest goes first. */
  readonly order: number;
  readonly by: Adder;
  readonly request: Pick<CreateBox, "name" | "projectDir" | "manifest" | "flags">;
  readonly task: string;
  readonly timeoutMs?: number | undefined;
  readonly agent: string;
  readonly state: QueueState;
  readonly box?: string | undefined;
  readonly incarnation?: string | undefined;
  readonly verdict?: Verdict | undefined;
  readonly why?: string | undefined;
  readonly addedAtMs: number;
  readonly startedAtMs?: number | undefined;
  readonly endedAtMs?: number | undefined;
}

export interface QueueRecord {
  readonly kind: "queue";
  readonly queue: string;
  readonly atOnce: number;
  readonly isPaused: boolean;
  readonly why?: string | undefined;
  /** What its tasks may use together since then. */
  readonly total?: (QueueTotal & { readonly sinceMs: number }) | undefined;
  /** The number of the task that was added last; numbers are not given twice. */
  readonly lastId: number;
}

export type QueueEntry = TaskRecord | QueueRecord;

/** Entries of the same key replace one another. */
export const queueKey = (
  entry: Pick<TaskRecord, "kind" | "id"> | Pick<QueueRecord, "kind" | "queue">,
): string => (entry.kind === "task" ? `task:${entry.id}` : `queue:${entry.queue}`);
