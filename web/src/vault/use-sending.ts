import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useToast } from "../parts/toast.tsx";

/**
 * Sends something that holds a value. SECURITY: not through the cache of mutations, which keeps what was sent for
 * minutes.
 */
export function useSending() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const queries = useQueryClient();
  const toast = useToast();
  const send = async (act: () => Promise<unknown>, done: string): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
      toast(done, "good");
      await queries.invalidateQueries({ queryKey: ["vault"] });
      return true;
    } catch (thrown) {
      setError(thrown);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { send, isBusy, error };
}
