/**
 * Pushing work and opening pull requests: git over https and a forge's API, from the host. Guarantees:
 * - The credential is used for the one request, and is in no argument, no file and no message.
 * - No setting of any repository has a say: nothing it names is executed, and no other host is asked in its place.
 * - A branch moves only from where it is known to be.
 */
import type { ForgeKind } from "../contract/review/push.ts";

export interface ForgeCredential {
  readonly username: string;
  readonly password: string;
}

/** A repository on another machine, and the way in. */
export interface RemoteRepository {
  /** `https://host/path`, or `http://` where a person said so; never with a credential in it. */
  readonly url: string;
  readonly credential: ForgeCredential;
}

export interface RemoteState {
  /** Absent when the repository is empty. */
  readonly defaultBranch?: string | undefined;
  /** Where each of the branches that were asked about is; those that are not there are absent. */
  readonly tips: ReadonlyMap<string, string>;
}

export interface PushOrder extends RemoteRepository {
  /** A git directory that has the commit; its objects are read, and nothing else of it. */
  readonly repository: string;
  readonly commit: string;
  /** Full name of the branch to create or to move, without refs/heads/. */
  readonly branch: string;
  /** Where the branch is; absent: it must not be there. Anything else is left alone, with `push.refused`. */
  readonly expected?: string | undefined;
}

export interface PullRequestOrder extends RemoteRepository {
  readonly forge: ForgeKind;
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
}

export interface PullRequest {
  readonly url: string;
  readonly number: number;
}

export interface Forges {
  /** The address a project's config has for a remote: that for pushing, where there is one. */
  findRemote(projectDir: string, name: string): Promise<string | undefined>;
  look(remote: RemoteRepository, branches: readonly string[]): Promise<RemoteState>;
  /** All of it or nothing. */
  push(order: PushOrder): Promise<void>;
  /** The one that is open for this branch already, or a new one. */
  openPullRequest(order: PullRequestOrder): Promise<PullRequest>;
}
