import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { client } from "../../api/client.ts";
import { removing } from "../../api/live.ts";
import { useMay, useMayOn } from "../../api/me.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { Note } from "../../parts/note.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Visible } from "../../parts/visible.tsx";

interface LastMerge {
  readonly id: number;
  /** The commit that the branch is at now. */
  readonly commit: string;
  /** Such as `main`; undefined when only files were changed. */
  readonly branch: string | undefined;
  readonly files: number;
}

/** The latest merge of a box that has not been undone, from the log. */
async function findLastMerge(box: string): Promise<LastMerge | null> {
  const newest = { limit: 100, order: "newest" } as const;
  const [current, merged, undone] = await Promise.all([
    client.getBox(box),
    client.listEvents({ box, type: "work.merged", ...newest }),
    client.listEvents({ type: "work.undone", ...newest }),
  ]);
  const back = new Set(undone.events.map(({ data }) => data["merge"]));
  // An earlier box of this name is none of its business.
  const own = merged.events.filter(({ incarnation }) => incarnation === current.box.incarnation);
  const last = own.find(({ data }) => !back.has(data["merge"]))?.data;
  const [id, branch, after] = [last?.["merge"], last?.["branch"], last?.["after"]];
  if (last === undefined || typeof id !== "number") return null;
  const isPatch = last["mode"] === "patch" || typeof branch !== "string";
  return {
    id,
    commit: typeof after === "string" ? after : "",
    branch: isPatch ? undefined : branch.replace(/^refs\/heads\//, ""),
    files: Number(last["files"] ?? 0),
  };
}

const useLastMerge = (box: string): LastMerge | undefined =>
  useQuery({ queryKey: ["review", box, "merge"], queryFn: () => findLastMerge(box) }).data ?? undefined;

/** The last merge, as long as it can be undone, and the two things that people do next. */
export function MergedNote({ box, onUndone }: { box: string; onUndone: () => void }) {
  const merge = useLastMerge(box);
  const navigate = useNavigate();
  const isOwn = useMayOn(box, "own");
  const mayReview = useMay("review");
  const mayWork = useMay("work");
  const undo = useAction(() => client.undoMerge({ box }), {
    done: ({ id }) => `Merge ${id} undone.`,
    invalidates: [["review", box], ["boxes"]],
    onDone: onUndone,
  });
  const remove = useAction(() => removing(box, () => client.removeBox(box, { force: true })), {
    done: `${box} is removed.`,
    invalidates: [["boxes"]],
    onDone: () => void navigate({ to: "/" }),
  });
  if (merge === undefined) return null;
  const { commit, branch, files } = merge;
  return (
    <Note tone="good">
      <div className="parts-row review-merged">
        <strong>
          <output>
            {branch === undefined ? (
              `Changed ${files} ${files === 1 ? "file" : "files"} of your project`
            ) : (
              <>
                Merged <code>{commit.slice(0, 7)}</code> into <Visible text={branch} />
              </>
            )}
          </output>
        </strong>
        {isOwn && mayReview ? (
          <Button isBusy={undo.isBusy} onClick={() => undo.run()}>
            Undo
          </Button>
        ) : null}
        {isOwn && mayWork ? (
          <ConfirmButton
            isBusy={remove.isBusy}
            question={`Remove ${box}?`}
            details={<p>The merged work stays in your project. The box and its files are removed.</p>}
            confirm="Remove box"
            onConfirm={() => remove.run()}
          >
            Remove box
          </ConfirmButton>
        ) : null}
      </div>
    </Note>
  );
}
