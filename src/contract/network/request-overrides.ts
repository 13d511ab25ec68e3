/**
 * The parts of a request that a server may obey in place of the method or the path that was judged: headers of
 * proxies and frameworks, and parameters of the query. Pure.
 */

export interface Overrides {
  /** In words, the first that would have the last word; undefined without one. */
  readonly method: string | undefined;
  readonly path: string | undefined;
}

const methodHeaders =
  /^(?:x-)?(?:http-)?(?:method|verb)$|(?:^|-)(?:method|verb)-overrides?$|^x-(?:override|original|forwarded|real)-(?:http-)?(?:method|verb)$|^request-method$/;
/** Other names of the path, and a second path beside it: where WebDAV and object stores copy from and to. */
const pathHeaders = [
  /^x-(?:[a-z0-9]+-)*(?:original|rewrite|rewritten|forwarded|override|proxy|real|raw|request|unencoded|matched|invoke|replaced|custom)-(?:[a-z0-9]+-)*(?:host|path|prefix|ur[il]|query)$/,
  /^(?:x-)?(?:(?:base|http|proxy)-)?ur[il]$/,
  /(?:^|-)(?:path|prefix|ur[il])-overrides?$/,
  /^(?:path-info|path-translated|script-name|request-uri|query-string|redirect-url|destination)$/,
  /^x-(?:[a-z0-9]+-)?(?:copy|rename)-(?:source|from)$/,
  // Another host has other paths: Rack and others take it from the standard header as from X-Forwarded-Host.
  /^(?:x-)?forwarded(?:-server)?$/,
  /^(?:x-)?(?:http-)?host(?:-override)?$|-host-override$|^x-http-destination-?url$/,
];
const methodParameters = new Set([
  "httpmethod",
  "httpmethodoverride",
  "methodoverride",
  "xhttpmethod",
  "xhttpmethodoverride",
  "xmethodoverride",
]);
/** SECURITY: PHP turns dots, spaces and brackets in a name into underscores, and takes the ones before it away. */
const methodParameter = /^\s*[._[\s]method\s*(?:[[\]\0].*)?$/is;

/** SECURITY: gateway interfaces turn every other character into an underscore. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "-");

/** Of a list of names and values, and a request's target. */
export function overridesOf(headers: readonly string[], target: string): Overrides {
  const names = headers.filter((_, i) => i % 2 === 0);
  const parameter = namesInQuery(target).find(isMethodParameter);
  const method = names.find((name) => methodHeaders.test(plainName(name)));
  const path = names.find((name) => pathHeaders.some((one) => one.test(plainName(name))));
  return {
    method:
      method !== undefined
        ? `header ${method.toLowerCase()}`
        : parameter === undefined
          ? undefined
          : `parameter ${parameter.trim().toLowerCase()}`,
    path: path === undefined ? undefined : `header ${path.toLowerCase()}`,
  };
}

export const isOverrideHeader = (name: string): boolean =>
  methodHeaders.test(plainName(name)) || pathHeaders.some((one) => one.test(plainName(name)));

/** How a field of the body with the last word on the method is called. */
export const formOverride = "field _method";

/** Whether a field of a form or of JSON has the last word on the method. Google's httpMethod has it in the query alone. */
export const isFormMethod = (name: string): boolean =>
  isMethodParameter(name) && !/^\W*http_?method\W*$/i.test(name);

const isMethodParameter = (name: string): boolean =>
  methodParameter.test(name) || methodParameters.has(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));

/** Some servers also take `;` for the beginning of another parameter. */
function namesInQuery(target: string): string[] {
  const mark = target.indexOf("?");
  if (mark < 0) return [];
  return target
    .slice(mark + 1)
    .split(/[&;?]/)
    .map((piece) => decodeLoosely(piece.split("=", 1)[0]!));
}

const decodeLoosely = (text: string): string =>
  text
    .replaceAll("+", " ")
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
