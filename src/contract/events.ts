import { z } from "zod";

/** noun.verb, in the past. The log is append-only: the dashboard, SSE, webhooks, audit and cost all read it. */
export const EventType = z.enum([
  "box.created",
  "box.prepared",
  "box.starting",
  "box.started",
  "box.adopted",
  "box.paused",
  "box.resumed",
  "box.stopping",
  "box.stopped",
  "box.restarted",
  "box.died",
  "box.failed",
  "box.removing",
  "box.removed",
  "box.expired",
  "box.idled",
  "session.started",
  "session.ended",
  "session.attached",
  "session.detached",
  "service.changed",
  "exec.started",
  "exec.ended",
  "files.copied",
  "link.connected",
  "link.lost",
  "link.violated",
  "trust.granted",
  "trust.refused",
  "trust.revoked",
  "limit.refused",
  "egress.allowed",
  "egress.denied",
  "approval.asked",
  "approval.answered",
  "policy.changed",
  "daemon.started",
  "daemon.stopped",
  "clock.jumped",
]);
export type EventType = z.infer<typeof EventType>;

export const BoxEvent = z.object({
  id: z.int().describe("Grows by one with every event; resume from the last one seen."),
  atMs: z.int(),
  type: EventType,
  box: z.string().optional(),
  incarnation: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
});
export type BoxEvent = z.infer<typeof BoxEvent>;
/** An event before the store has given it its number. */
export type NewEvent = Omit<BoxEvent, "id">;
