import { expect, it } from "vitest";
import { isLoopback, portOf } from "./url-address.ts";

it.each([
  ["https://a.example/", 443],
  ["http://a.example/", 80],
  ["https://a.example:8443/", 8443],
  ["http://a.example:443/", 443],
])("%s is at the port %i", (url, port) => {
  expect(portOf(new URL(url))).toBe(port);
});

it("knows this machine from names that only look like it", () => {
  for (const host of ["127.0.0.1", "127.1", "[::1]", "localhost"])
    expect(isLoopback(new URL(`http://${host}:80/`)), host).toBe(true);
  for (const host of ["127.0.0.1.a.example", "a.example", "localhost.a.example", "[::2]", "10.0.0.1"])
    expect(isLoopback(new URL(`http://${host}/`)), host).toBe(false);
});
