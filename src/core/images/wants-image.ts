/** An empty list of packages asks for an image, too: Debian with nothing besides. */
export const wantsImage = (spec: {
  readonly image?: string | undefined;
  readonly packages?: readonly string[] | undefined;
}): boolean => spec.image !== undefined || spec.packages !== undefined;
