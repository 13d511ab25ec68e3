import { useEffect, useRef, useState } from "react";
import type { ManifestCheck } from "../../../src/contract/api/schemas/forms.ts";
import { client } from "../api/client.ts";
import { type Draft, workOf } from "./draft.ts";

const pauseMs = 250;

export interface Checked {
  /** Of the form as it was a moment ago, while `isCurrent` is false. */
  readonly check: ManifestCheck | undefined;
  readonly isCurrent: boolean;
  readonly error: unknown;
}

/** The daemon's check of the form, asked again after each pause in typing. */
export function useCheck(draft: Draft): Checked {
  const { name, projectDir, values, task, starts } = draft;
  const [answer, setAnswer] = useState<{ of: string; check?: ManifestCheck; error?: unknown }>();
  const body = JSON.stringify({
    ...(name === "" ? {} : { name }),
    ...(projectDir === "" ? {} : { projectDir }),
    flags: values,
    ...(starts ? workOf(task) : {}),
  });
  const latest = useRef(body);
  latest.current = body;
  useEffect(() => {
    const timer = setTimeout(() => {
      const of = body;
      client.checkManifest(JSON.parse(of) as Parameters<typeof client.checkManifest>[0]).then(
        (check) => latest.current === of && setAnswer({ of, check }),
        (error: unknown) => latest.current === of && setAnswer((last) => ({ ...last, of, error })),
      );
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [body]);
  return {
    check: answer?.check,
    isCurrent: answer?.of === body && answer.error === undefined,
    error: answer?.error,
  };
}
