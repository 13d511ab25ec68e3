/** Paths below the workspace, as the address of the page has them: no slash at either end. */
export const joinPath = (dir: string, name: string): string => (dir === "" ? name : `${dir}/${name}`);

export interface Crumb {
  readonly name: string;
  readonly path: string;
}

/** Every directory on the way, the workspace first. */
export function crumbsOf(dir: string): readonly Crumb[] {
  const parts = dir.split("/").filter((part) => part !== "");
  return [
    { name: "workspace", path: "" },
    ...parts.map((name, index) => ({ name, path: parts.slice(0, index + 1).join("/") })),
  ];
}

export const dirOf = (path: string): string => path.split("/").slice(0, -1).join("/");
export const nameOf = (path: string): string => path.split("/").at(-1) ?? "";
