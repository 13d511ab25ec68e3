import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { toAgentBoxError } from "../../../src/base/errors.ts";
import { useToast } from "./toast.tsx";

interface ActionOptions<T, A> {
  /** The message when it is done. */
  readonly done?: string | ((result: T, argument: A) => string) | undefined;
  readonly invalidates?: readonly QueryKey[] | undefined;
  readonly onDone?: ((result: T, argument: A) => void) | undefined;
  /** The page shows the error itself. */
  readonly isQuiet?: boolean | undefined;
}

/** Something a person does: busy while it goes on, said when it is done, and why when it is not. */
export function useAction<T, A = void>(act: (argument: A) => Promise<T>, options: ActionOptions<T, A> = {}) {
  const toast = useToast();
  const queries = useQueryClient();
  const mutation = useMutation<T, unknown, A>({
    mutationFn: act,
    onSuccess(result, argument) {
      const { done } = options;
      if (done !== undefined) toast(typeof done === "string" ? done : done(result, argument), "good");
      for (const queryKey of options.invalidates ?? []) void queries.invalidateQueries({ queryKey });
      options.onDone?.(result, argument);
    },
    onError(error) {
      if (options.isQuiet) return;
      const { message, hint } = toAgentBoxError(error);
      toast(hint === undefined ? message : `${message} ${hint}`, "bad");
    },
  });
  return { run: mutation.mutate, isBusy: mutation.isPending, error: mutation.error, reset: mutation.reset };
}
