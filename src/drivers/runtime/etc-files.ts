/** The box's /etc: written for the box, so that nothing about the host's people, names or network is in it. */
import { gitConfigValue } from "../../base/git-config-value.ts";
import { boxPaths, boxUser, type BoxOwner, type PersonSettings } from "../../contract/box.ts";

export interface EtcFile {
  readonly path: string;
  readonly content: string;
}

export interface EtcSubject {
  readonly name: string;
  readonly machineId: string;
  /** Whom the box's user is inside, where a runtime cannot map it to the usual number. */
  readonly user?: BoxOwner | undefined;
  readonly git?: PersonSettings["git"] | undefined;
}

/** Read before every other of git's settings: a repository, or the box's own home, says otherwise. */
function gitConfig(git: EtcSubject["git"] = {}): string {
  const author = Object.entries(git).flatMap(([key, value]) =>
    value === undefined ? [] : [`\t${key} = ${gitConfigValue(value)}\n`],
  );
  // Its owner may be another number here than the box's user, and git would work in no such directory.
  const safe = `[safe]\n\tdirectory = ${boxPaths.workspace}\n`;
  return author.length === 0 ? safe : `${safe}[user]\n${author.join("")}`;
}

export function etcFiles(box: EtcSubject): readonly EtcFile[] {
  const { name } = boxUser;
  const { uid, gid } = box.user ?? boxUser;
  return [
    {
      path: "/etc/passwd",
      content: [
        "root:x:0:0:root:/nonexistent:/usr/sbin/nologin",
        `${name}:x:${uid}:${gid}:${name}:${boxPaths.home}:/bin/bash`,
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
        "",
      ].join("\n"),
    },
    { path: "/etc/group", content: ["root:x:0:", `${name}:x:${gid}:`, "nogroup:x:65534:", ""].join("\n") },
    {
      path: "/etc/hosts",
      content: `127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.0.1 ${box.name}\n`,
    },
    { path: "/etc/gitconfig", content: gitConfig(box.git) },
    { path: "/etc/hostname", content: `${box.name}\n` },
    { path: "/etc/machine-id", content: `${box.machineId}\n` },
    {
      path: "/etc/nsswitch.conf",
      content:
        "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nprotocols: files\nservices: files\n",
    },
    { path: "/etc/resolv.conf", content: "nameserver 127.0.0.1\noptions timeout:2\n" },
  ];
}
