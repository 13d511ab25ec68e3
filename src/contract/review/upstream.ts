/**
 * A commit of the project's branch that was brought into a box after it began. Once the agent's work is on top of it,
 * the work is compared with it.
 */
export interface UpstreamRecord {
  readonly box: string;
  readonly incarnation: string;
  readonly number: number;
  readonly commit: string;
  readonly branch?: string;
  readonly atMs: number;
}
