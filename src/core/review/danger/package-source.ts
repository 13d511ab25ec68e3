/**
 * Where a package comes from, as short as it can be told: the host of a registry, and for places that serve everybody's
 * work the owner and the name too. Credentials, queries and versions are left out. Undefined for a plain version.
 */
export function packageSource(value: string): string | undefined {
  const text = value.trim();
  const scp = /^(?:[\w.-]+@)?([\w.-]+\.[a-z]{2,}):(?!\/\/)([\w./~-]+)/i.exec(text);
  if (scp && !/^[a-z]:/i.test(text)) return `${scp[1]!.toLowerCase()}/${repositoryOf(scp[2]!)}`;
  const url = /^([a-z][a-z0-9+.-]{1,20}):\/\/(?:[^\s/@]*@)?([^\s/?#:]*)(?::\d+)?([^\s?#]*)/i.exec(text);
  if (url) return sourceOfUrl(url[1]!.toLowerCase(), url[2]!.toLowerCase(), url[3]!);
  const local = /^(?:file|link|portal|path|patch):(?:\/\/)?(.{0,200})/i.exec(text);
  if (local) return `the directory ${local[1] || "."}`;
  const hosted = /^(github|gitlab|bitbucket|gist):([\w.-]{1,100}(?:\/[\w.-]{1,100})?)/i.exec(text);
  if (hosted) return `${hosted[1]!.toLowerCase()}/${repositoryOf(hosted[2]!)}`;
  return undefined;
}

const repositoryOf = (path: string): string =>
  path
    .replace(/^\/+/, "")
    .replace(/\.git(?:$|[@#/].*)/i, "")
    .split("/")
    .slice(0, 2)
    .join("/")
    .toLowerCase();

const everybodysHosts =
  /(?:^|\.)(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|codeberg\.org|sr\.ht|gist\.github\.com|amazonaws\.com|googleapis\.com|dropbox\.com)$/;

function sourceOfUrl(scheme: string, host: string, path: string): string {
  if (scheme === "file") return `the directory ${path || "."}`;
  const isRepository = /^git|^ssh|^hg|^svn|^bzr/.test(scheme) || everybodysHosts.test(host);
  const isPlain = scheme === "http" || scheme === "ftp" || scheme === "git" || scheme === "git+http";
  const place = isRepository ? `${host}/${repositoryOf(path)}` : host;
  return isPlain ? `${place} (not encrypted)` : place;
}
