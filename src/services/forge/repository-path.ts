/** How the API of a forge names a repository: by the path of its address. */

/** `owner/name`, or deeper where a forge has groups. */
export const pathOf = (url: string): string =>
  decodeURIComponent(new URL(url).pathname)
    .replace(/^\/+|\/+$/g, "")
    .replace(/\.git$/, "");

/** As parts of another path. */
export const encodeParts = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
