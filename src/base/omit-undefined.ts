/** The same fields; those that may be undefined may be absent instead. */
type WithoutUndefined<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined>;
};

/**
 * The fields that have a value, in their order. An optional field is either absent or has a value (`exactOptionalPropertyTypes`),
 * so a value that may be undefined passes through here on its way into an object.
 */
export function omitUndefined<Fields extends object>(fields: Fields): WithoutUndefined<Fields> {
  // A cast is needed: no type follows which of the fields the filter has left.
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<Fields>;
}
