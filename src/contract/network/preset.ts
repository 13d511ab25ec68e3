/** One host of a preset, with what may be done there. */
export interface PresetRule {
  /** A host pattern without a port. */
  readonly host: string;
  readonly ports: readonly number[];
  /** Empty: all. */
  readonly methods: readonly string[];
  /** Empty: all. */
  readonly paths: readonly string[];
}

/** The rules of a preset on this host, now. */
export interface PresetHosts {
  readonly name: string;
  readonly rules: readonly PresetRule[];
  /** Sentences about hosts that the tool is configured with and that no rule can open. */
  readonly unusable: readonly string[];
}
