/**
 * The exceptions that can be added to the baseline of a box. Closed lists of things known to stay inside the box,
 * because a list of dangerous ones is never complete. The manifest is checked by it, and so is the request to a
 * runtime.
 */

/**
 * SECURITY: nothing that reaches another user, process or file of the host. SETUID, CHOWN or DAC_OVERRIDE on an engine
 * without user namespaces would be those of the host's root.
 */
export const grantableCapabilities = ["IPC_LOCK", "NET_BIND_SERVICE", "SYS_NICE"] as const;

/** Upper case and without CAP_, as engines write them. */
export const capabilityName = (text: string): string => text.toUpperCase().replace(/^CAP_/, "");

export const isGrantableCapability = (name: string): boolean =>
  (grantableCapabilities as readonly string[]).includes(name);

/**
 * SECURITY: no memory, disk, kernel log, keyboard or raw bus: reading those is reading the host. Below /dev, which
 * belongs to the host, so that a name cannot lead elsewhere.
 */
const grantableDevice =
  /^\/dev\/(?:kvm|fuse|kfd|dri\/renderD\d{1,4}|accel\/accel\d{1,3}|nvidia(?:\d{1,3}|ctl|-uvm|-uvm-tools|-modeset)|video\d{1,3}|snd\/[A-Za-z0-9]{1,32}|tty(?:USB|ACM)\d{1,3})$/;

export const isGrantableDevice = (path: string): boolean => grantableDevice.test(path);

/** In words, for a refusal of another one. */
export const grantableDevices =
  "/dev/kvm, /dev/fuse, /dev/kfd, /dev/dri/renderD…, /dev/accel/…, /dev/nvidia…, /dev/video…, /dev/snd/…, /dev/ttyUSB… and /dev/ttyACM…";
