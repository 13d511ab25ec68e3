import { useState } from "react";
import { client } from "../api/client.ts";
import { useMe } from "../api/me.ts";
import { templatesQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Field, TextInput } from "../parts/field.tsx";
import { useAction } from "../parts/use-action.ts";
import type { Values } from "./draft.ts";

/** Keeps the settings of the form under a name, without its project, task and name. */
export function SaveTemplate({ values }: { values: Values }) {
  const [name, setName] = useState("");
  const isOfHost = useMe()?.isAdmin === true;
  const save = useAction(() => client.saveTemplate({ name, values }), {
    invalidates: [templatesQuery.queryKey],
    done: () => `Template saved. Use it here, or run: agentbox run --template ${name}`,
    onDone: () => setName(""),
  });
  if (!isOfHost || Object.keys(values).length === 0) return null;
  return (
    <form
      className="parts-row new-box-save"
      onSubmit={(event) => {
        event.preventDefault();
        save.run();
      }}
    >
      <Field label="Save as template">
        <TextInput
          value={name}
          placeholder="night"
          maxLength={48}
          required
          onChange={({ target }) => setName(target.value)}
        />
      </Field>
      <Button type="submit" isBusy={save.isBusy} disabled={name === ""}>
        Save template
      </Button>
    </form>
  );
}
