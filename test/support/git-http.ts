/**
 * A real git server over HTTP: `git http-backend` behind basic auth, with bare repositories in a directory of its own.
 * The password gives read and write access; every request is recorded with the credential it carried.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "./program.ts";

/** A part of git, wherever that keeps its parts. */
const backend = join(execFileSync("git", ["--exec-path"]).toString().trim(), "git-http-backend");

export interface GitRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly authorization: string | undefined;
}

export interface GitHttpOptions {
  readonly username?: string;
  readonly password: string;
  /** The address it listens on. Default: 127.0.0.1. */
  readonly host?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Answers what is not git, such as a forge's API; without it that is a 404. */
  readonly other?: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface GitHttp extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** Where the bare repositories are. */
  readonly root: string;
  readonly requests: readonly GitRequest[];
  /** Makes a bare repository with `main` as its default branch; `from` is pushed into it. */
  createRepository(name: string, from?: string): Promise<string>;
  /** git's output in one of the repositories. */
  git(name: string, ...args: string[]): Promise<string>;
  /** From now on requests wait; the answer tells when the first has come, and lets all of them go. */
  hold(): { readonly arrived: Promise<void>; readonly release: () => void };
}

export async function startGitHttp(options: GitHttpOptions): Promise<GitHttp> {
  const root = mkdtempSync(join(tmpdir(), "abx-git-"));
  const requests: GitRequest[] = [];
  let held: Promise<void> | undefined;
  let arrive: (() => void) | undefined;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { authorization } = request.headers;
    requests.push({ method: request.method!, path: request.url!, authorization });
    arrive?.();
    await held;
    if (!/\/(?:info\/refs|git-upload-pack|git-receive-pack)(?:\?|$)/.test(request.url!)) {
      if (options.other) return options.other(request, response);
      return void response.writeHead(404).end();
    }
    if (!isAllowed(authorization, options)) {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("no\n");
    }
    serveGit(root, request, response);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  const server: Server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest);
  server.listen(0, options.host ?? "127.0.0.1");
  await once(server, "listening");
  const { port, address } = server.address() as AddressInfo;

  const git = async (name: string, ...args: string[]): Promise<string> => {
    const argv = ["git", "-c", "safe.directory=*", "--git-dir", join(root, name), ...args];
    const { code, stdout, stderr } = await runProgram(argv);
    if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdout.trim();
  };
  return {
    origin: `${options.tls ? "https" : "http"}://${address}:${port}`,
    root,
    requests,
    git,
    async createRepository(name, from) {
      const bare = join(root, name);
      await runProgram(["git", "init", "-q", "--bare", "-b", "main", bare]);
      await git(name, "config", "http.receivepack", "true");
      if (from !== undefined) {
        // A push, because git reads no other user's repository for a fetch.
        const argv = [
          "git",
          "-c",
          "safe.directory=*",
          "-C",
          from,
          "push",
          "-q",
          bare,
          "refs/heads/*:refs/heads/*",
        ];
        const { code, stderr } = await runProgram(argv);
        if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
      }
      return bare;
    },
    hold() {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = () => {
          held = undefined;
          arrive = undefined;
          resolve();
        };
      });
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      return { arrived, release: () => release() };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function isAllowed(authorization: string | undefined, { username, password }: GitHttpOptions): boolean {
  const [, encoded] = /^Basic (.+)$/i.exec(authorization ?? "") ?? [];
  const [user, ...rest] = Buffer.from(encoded ?? "", "base64")
    .toString()
    .split(":");
  return rest.join(":") === password && (username === undefined || user === username);
}

/** As CGI says: the request as variables and stdin, the answer as headers, an empty line and a body. */
function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url!, "http://x");
  const header = (name: string): string => String(request.headers[name] ?? "");
  const child = spawn(backend, [], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      REMOTE_USER: "someone",
      REMOTE_ADDR: "127.0.0.1",
      REQUEST_METHOD: request.method!,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: header("content-type"),
      ...(request.headers["content-length"] === undefined
        ? {}
        : { CONTENT_LENGTH: header("content-length") }),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      HTTP_GIT_PROTOCOL: header("git-protocol"),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  response.on("close", () => child.kill("SIGKILL"));
  let head: Buffer | undefined = Buffer.alloc(0);
  child.stdout.on("data", (chunk: Buffer) => {
    if (head === undefined) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    const lines = head.subarray(0, end).toString("latin1").split("\r\n");
    const fields = lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]);
    const status = fields.find(([name]) => name.toLowerCase() === "status")?.[1] ?? "200";
    const headers = fields.filter(([name]) => name.toLowerCase() !== "status");
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers));
    response.write(head.subarray(end + 4));
    head = undefined;
  });
  child.on("close", () => response.end());
}
