import { formatBytes } from "../base/bytes.ts";
import type { SecurityException } from "./box.ts";

/** The power that an exception from the baseline gives a box, as one phrase: "use the device /dev/kvm of the host". */
export function describeException({ devices, capabilities, tmpfs, gpus }: SecurityException): string {
  const processors = gpus === 1 ? "a graphics processor" : `${gpus} graphics processors`;
  return [
    ...devices.map((device) => `use the device ${device} of the host`),
    ...capabilities.map((name) => `have the capability ${name}`),
    ...(gpus === 0 ? [] : [`use ${processors} of the host`]),
    ...Object.entries(tmpfs).map(([path, bytes]) => `keep ${path} in memory, up to ${formatBytes(bytes)}`),
  ].join(" and ");
}

/** Whether only a runtime with an engine can do it. */
export const needsEngine = ({ devices, capabilities, gpus }: SecurityException): boolean =>
  devices.length + capabilities.length + gpus > 0;
