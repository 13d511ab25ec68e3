import { describe, expect, it } from "vitest";
import { isOverrideHeader, overridesOf } from "./request-overrides.ts";

describe("what a server may obey in the place of the method", () => {
  it.each([
    "X-HTTP-Method-Override",
    "X-HTTP-Method",
    "X-Method-Override",
    "x_http_method_override",
    "X.Http.Method.Override",
    "Http-Method-Override",
    "X-Original-Method",
    "X-Forwarded-Method",
  ])("is the header %s", (name) => {
    expect(overridesOf([name, "DELETE"], "/")).toEqual({
      method: `header ${name.toLowerCase()}`,
      path: undefined,
    });
    expect(isOverrideHeader(name)).toBe(true);
  });
  it.each([
    "_method=DELETE",
    "_METHOD=DELETE",
    "a=1&%5Fmethod=DELETE",
    "a=1;_method=DELETE",
    ".method=DELETE",
    "[method=DELETE",
    "+_method=DELETE",
    "_method[]=DELETE",
    "X-HTTP-Method-Override=DELETE",
    "x_http_method=DELETE",
    "httpMethod=DELETE",
    "%24httpMethod=DELETE",
    "a?_method=DELETE",
  ])("is in the query %s", (query) => {
    expect(overridesOf([], `/x?${query}`).method).toMatch(/^parameter /);
  });
});

describe("what a server may obey in the place of the path", () => {
  it.each([
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-Forwarded-Prefix",
    "X-Forwarded-Uri",
    "X-Forwarded-Path",
    "X-Forwarded-Host",
    "X-Original-URI",
    "X-Envoy-Original-Path",
    "x_original_url",
    "X-Override-Url",
    "Path_Info",
    "Script-Name",
    "Destination",
    "X-Amz-Copy-Source",
    "X-Ms-Rename-Source",
    "X-Copy-From",
    "X-Matched-Path",
    "X-Invoke-Path",
    "X-Replaced-Path",
    "X-Custom-Url",
    "Base-Url",
    "X-Url",
    "URI",
    "Forwarded",
    "X-Forwarded-Server",
    "X-Host",
    "X-HTTP-Host-Override",
    "X-HTTP-DestinationURL",
  ])("is the header %s", (name) =>
    expect(overridesOf([name, "/admin"], "/")).toEqual({
      method: undefined,
      path: `header ${name.toLowerCase()}`,
    }),
  );
});

it.each([
  "Access-Control-Request-Method",
  "X-Request-Id",
  "X-Forwarded-For",
  "X-Forwarded-Proto",
  "X-Real-Ip",
  "Referer",
  "Origin",
  "X-Amz-Copy-Source-Range",
  "X-Requested-With",
  "Content-Location",
  "X-Url-Scheme",
])("the header %s overrides nothing", (name) => {
  expect(overridesOf([name, "X-HTTP-Method-Override"], "/x?method=a&methods=b&q=_method")).toEqual({
    method: undefined,
    path: undefined,
  });
});
