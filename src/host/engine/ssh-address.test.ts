import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { parseSshUrl } from "./ssh-address.ts";
import { tunnelArgv } from "./ssh-tunnel.ts";

describe("parseSshUrl", () => {
  it("takes what ssh takes, and the usual socket where none is named", () => {
    expect(parseSshUrl("ssh://me@far.example")).toEqual({
      destination: "me@far.example",
      port: undefined,
      socketPath: "/var/run/docker.sock",
    });
    expect(parseSshUrl("ssh://build-host:2222/run/user/1000/podman/podman.sock")).toEqual({
      destination: "build-host",
      port: 2222,
      socketPath: "/run/user/1000/podman/podman.sock",
    });
  });

  it("refuses what ssh would read as something else", () => {
    for (const url of [
      "ssh://-oProxyCommand=touch%20x",
      "ssh://-oProxyCommand=x@host",
      "ssh://me@-oProxyCommand=x",
      "ssh://me:secret@host",
      "ssh://me@host;id",
      "ssh://me@host$(id)",
      "ssh://me@host\n-oX=y",
      "ssh://me@host/a:b",
      "ssh://me@host/%d/x",
      "ssh://me@host/${HOME}",
      "ssh://me@host:70000",
      "ssh://me@host:-1",
      "ssh://",
    ])
      expect(parseSshUrl(url), url).toBeUndefined();
  });

  it("never lets a word through that begins with a dash, whatever was written", () => {
    const word = fc.string({
      unit: fc.constantFrom("-", "o", "a", "@", ":", "/", "=", " ", "%", "$", "\n", "\0", "."),
    });
    fc.assert(
      fc.property(word, (rest) => {
        const address = parseSshUrl(`ssh://${rest}`);
        if (address === undefined) return;
        const argv = tunnelArgv(address, "/tmp/x/s");
        expect(argv.at(-2)).toBe("--");
        expect(argv.at(-1)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*(?:@[A-Za-z0-9][A-Za-z0-9._-]*)?$/);
        expect(argv.at(-3)).toMatch(/^\/tmp\/x\/s:\/[^:%$\s\0]*$/);
      }),
    );
  });
});

it("asks nobody for a password, checks the host's key, and lends nothing", () => {
  const argv = tunnelArgv({ destination: "me@far", port: 22, socketPath: "/s" }, "/tmp/x/s");
  for (const option of ["BatchMode=yes", "ForwardAgent=no", "ExitOnForwardFailure=yes"])
    expect(argv[argv.indexOf(option) - 1]).toBe("-o");
  expect(argv.join(" ")).not.toMatch(/StrictHostKeyChecking|UserKnownHostsFile/);
});
