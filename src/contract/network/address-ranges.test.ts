import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forbiddenRange } from "./address-ranges.ts";

describe("forbidden ranges", () => {
  it.each([
    ["0.0.0.0", "this network"],
    ["0.1.2.3", "this network"],
    ["10.0.0.1", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "carrier-grade NAT"],
    ["100.100.100.200", "carrier-grade NAT"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["2130706433", "loopback"],
    ["169.254.169.254", "link-local and cloud metadata"],
    ["168.63.129.16", "cloud metadata"],
    ["192.0.0.192", "protocol assignments"],
    ["198.18.0.1", "benchmark"],
    ["198.19.255.255", "benchmark"],
    ["224.0.0.1", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["fd00:ec2::254", "private"],
    ["fe80::1", "link-local"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["::ffff:10.0.0.1", "private"],
    ["::127.0.0.1", "loopback"],
    ["::7f00:1", "loopback"],
    ["2002:7f00:1::", "loopback"],
    ["2002:a9fe:a9fe::1", "link-local and cloud metadata"],
    ["64:ff9b::a00:1", "private"],
    ["64:ff9b:1::1", "local NAT64"],
    ["2001:0:7f00:1::", "loopback"],
    // A Teredo client 10.0.0.1, all bits turned, behind a public server.
    ["2001:0:808:808:0:0:f5ff:fffe", "private"],
    ["100::1", "not global unicast"],
    ["5f00::1", "not global unicast"],
    ["fe80::1%eth0", "not an address"],
    ["example.org", "not an address"],
    ["", "not an address"],
  ])("%s is %s", (address, range) => expect(forbiddenRange(address)).toBe(range));

  it.each([
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2001:db8::1",
    "2002:808:808::1",
    "64:ff9b::808:808",
    "2001:0:808:808:0:0:f7f7:f7f7",
  ])("%s is free: the control", (address) => expect(forbiddenRange(address)).toBeUndefined());

  it("the host's own addresses are given by whoever knows them", () => {
    expect(forbiddenRange("203.0.113.9", ["203.0.113.8"])).toBeUndefined();
    expect(forbiddenRange("203.0.113.9", ["::1", "203.0.113.9"])).toBe("the host itself");
    expect(forbiddenRange("2606:4700:0:0::1", ["2606:4700::1"])).toBe("the host itself");
  });

  it("an IPv4 address is judged alike, however IPv6 wraps it", () => {
    fc.assert(
      fc.property(fc.nat(0xff_ff_ff_ff), (value) => {
        const dotted = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
        const [high, low] = [(value >>> 16).toString(16), (value & 0xff_ff).toString(16)];
        const range = forbiddenRange(dotted);
        for (const wrapped of [`::ffff:${dotted}`, `2002:${high}:${low}::1`, `64:ff9b::${high}:${low}`])
          expect(forbiddenRange(wrapped), wrapped).toBe(range);
      }),
    );
  });
});
