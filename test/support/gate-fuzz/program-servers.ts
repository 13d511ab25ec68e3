/** nginx, Apache, Caddy and Python's own server: each on a plain port and one with TLS, with a log of what it has read. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  chmodSync,
} from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../../../src/base/wait-for.ts";
import { serverCertificate } from "../../../src/services/gate/fixtures/gate.fixture.ts";
import { isRoot } from "../host-facts.ts";
import { host } from "./exchange.ts";
import { pythonServer } from "./python-server.ts";
import type { FuzzServer, Sighting } from "./servers.ts";

export type ProgramServer = FuzzServer;

interface Program {
  readonly name: string;
  readonly argv: (ground: Ground) => readonly string[];
  readonly config: (ground: Ground) => string;
  /** One line of its log. */
  readonly read: (line: string) => Omit<Sighting, "server">;
}

interface Ground {
  readonly dir: string;
  readonly http: number;
  readonly https: number;
  readonly configFile: string;
  readonly log: string;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

/** The lines that a log has got since it was last asked. */
function follow(log: string): () => string[] {
  const file = openSync(log, "a+");
  const chunk = Buffer.alloc(1 << 20);
  let at = 0;
  let begun = "";
  const next = (): string[] => {
    for (
      let read = readSync(file, chunk, 0, chunk.length, at);
      read > 0;
      read = readSync(file, chunk, 0, chunk.length, at)
    ) {
      at += read;
      begun += chunk.toString("latin1", 0, read);
    }
    const lines = begun.split("\n");
    begun = lines.pop()!;
    return lines;
  };
  return Object.assign(next, { close: () => closeSync(file) });
}

async function start(program: Program): Promise<ProgramServer> {
  const dir = mkdtempSync(join(tmpdir(), `fuzz-${program.name}-`));
  // Workers of a server that was started by root belong to another user.
  chmodSync(dir, 0o755);
  const [http, https] = (await freePorts(2)) as [number, number];
  const ground = { dir, http, https, configFile: join(dir, "config"), log: join(dir, "seen.log") };
  const { key, cert } = serverCertificate(host);
  writeFileSync(join(dir, "key.pem"), key);
  writeFileSync(join(dir, "cert.pem"), cert);
  mkdirSync(join(dir, "tmp"), { mode: 0o777 });
  writeFileSync(ground.configFile, program.config(ground));
  const lines = follow(ground.log);
  const [command, ...args] = program.argv(ground);
  const output = openSync(join(dir, "output.log"), "a");
  const path = `${process.env["PATH"]}:/usr/sbin:/sbin`;
  const env = { ...process.env, PATH: path, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir };
  const child = spawn(command!, args, { cwd: dir, env, stdio: ["ignore", output, output] });
  closeSync(output);
  const ended = once(child, "close");
  const server: ProgramServer = {
    name: program.name,
    http,
    https,
    sightings: () => lines().map((line) => ({ server: program.name, ...program.read(line) })),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
      rmSync(dir, { recursive: true, force: true });
    },
  };
  try {
    await waitFor(`${program.name} answers`, async () => (await answers(http)) && (await answers(https)));
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Request line, Host and Authorization with tabs between; a line that is no request is a finding of its own. */
function readTabbed(line: string): Omit<Sighting, "server"> {
  const [request = "", name = "", authorization = ""] = line
    .split("\t")
    .map((text) => (text === "-" ? "" : text));
  const [, method = "?", target = request] = /^([A-Z]+) (\S+) HTTP\/1\.1$/.exec(request) ?? [];
  return { method, target, host: name, authorization };
}

interface JsonSighting {
  readonly request: { method: string; uri: string; host: string; headers: Record<string, string[]> };
}
function readJson(line: string): Omit<Sighting, "server"> {
  const { request } = JSON.parse(line) as JsonSighting;
  const authorization = request.headers["Authorization"]?.join(", ") ?? "";
  return { method: request.method, target: request.uri, host: request.host, authorization };
}

export const startNginx = (witness: number): Promise<ProgramServer> =>
  start({
    name: "nginx",
    argv: ({ dir, configFile }) => ["nginx", "-p", dir, "-c", configFile, "-e", join(dir, "error.log")],
    read: readTabbed,
    config: ({ dir, http, https, log }) => `
daemon off;
worker_processes 1;
${isRoot ? "user root;" : ""}
pid ${dir}/pid;
error_log ${dir}/error.log;
events { worker_connections 1024; }
http {
  log_format seen "$request\\t$http_host\\t$http_authorization";
  access_log ${log} seen;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${dir}/tmp/${name};`).join("\n  ")}
  keepalive_requests 1000000;
  keepalive_timeout 3s;
  upstream behind { server 127.0.0.1:${witness}; keepalive 8; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${http};
    listen 127.0.0.1:${https} ssl;
    ssl_certificate ${dir}/cert.pem;
    ssl_certificate_key ${dir}/key.pem;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    location / { proxy_pass http://behind; }
    location /chunked/ { proxy_request_buffering off; proxy_pass http://behind; }
    location /limited/ { client_max_body_size 10; proxy_pass http://behind; }
    location /early/ { add_header X-Seen $request_uri always; return 200 "early"; }
    location /none/ { add_header X-Seen $request_uri always; return 204; }
  }
}`,
  });

export const startApache = (witness: number): Promise<ProgramServer> =>
  start({
    name: "apache",
    argv: ({ configFile }) => ["apache2", "-X", "-f", configFile],
    read: readTabbed,
    config: ({ dir, http, https, log }) => {
      const site = `
  CustomLog ${log} seen
  RewriteEngine On
  RewriteRule ^/early/ - [F]
  ProxyPass /early/ !
  ProxyPass / http://127.0.0.1:${witness}/
</VirtualHost>
`;
      return `
ServerRoot ${dir}
ServerName ${host}
PidFile ${dir}/pid
Mutex pthread
ErrorLog ${dir}/error.log
Listen 127.0.0.1:${http}
Listen 127.0.0.1:${https}
${["mpm_event", "authz_core", "headers", "rewrite", "proxy", "proxy_http", "socache_shmcb", "ssl"]
  .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
  .join("\n")}
${isRoot ? "User www-data\nGroup www-data" : ""}
DocumentRoot ${dir}/tmp
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 3
LogFormat "%r\\t%{Host}i\\t%{Authorization}i" seen
<VirtualHost *:${http}>${site}
<VirtualHost *:${https}>
  SSLEngine on
  SSLCertificateFile ${dir}/cert.pem
  SSLCertificateKeyFile ${dir}/key.pem${site}`;
    },
  });

export const startCaddy = (witness: number): Promise<ProgramServer> =>
  start({
    name: "caddy",
    argv: ({ configFile }) => ["caddy", "run", "--adapter", "caddyfile", "--config", configFile],
    read: readJson,
    config: ({ dir, http, https, log }) => {
      const site = `
  bind 127.0.0.1
  log {
    output file ${log} {
      roll_disabled
    }
    format json
  }
  handle /early/* {
    header X-Seen {http.request.uri}
    respond "early" 200
  }
  handle /none/* {
    header X-Seen {http.request.uri}
    respond 204
  }
  handle {
    reverse_proxy 127.0.0.1:${witness}
  }
}
`;
      return `{
  admin off
  auto_https off
  servers {
    protocols h1
    log_credentials
  }
}
:${http} {${site}
:${https} {
  tls ${dir}/cert.pem ${dir}/key.pem${site}`;
    },
  });

export const startPython = (): Promise<ProgramServer> =>
  start({
    name: "python",
    argv: ({ configFile }) => ["python3", configFile],
    read: (line) => JSON.parse(line) as Omit<Sighting, "server">,
    config: pythonServer,
  });
