import { Link } from "@tanstack/react-router";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty } from "../parts/note.tsx";

const commands = [
  {
    what: "An agent on a task, in the directory you are in",
    text: 'agentbox run claude --task "Fix the failing test"',
  },
  { what: "A shell in a box, to look around", text: "agentbox run shell" },
  { what: "A tour that needs no account", text: "agentbox tour" },
];

/** For a person without a box: what a box is, and three ways to make the first. */
export function FirstSteps() {
  return (
    <Empty title="No boxes yet">
      <p className="fleet-first-text">
        In a box, a coding agent may do everything. Outside, it may do only what you allow. It works on a copy
        of your project; you review the work and merge what you like.
      </p>
      <Link
        to="/new"
        search={{ agent: undefined, project: undefined, task: undefined }}
        className="parts-button parts-button-primary"
      >
        <Icon name="plus" />
        Create your first box
      </Link>
      <p className="quiet">or in a terminal:</p>
      <ul className="fleet-first">
        {commands.map(({ what, text }) => (
          <li key={text}>
            <span>
              <span className="small quiet">{what}</span>
              <br />
              <code>{text}</code>
            </span>
            <CopyButton text={text} />
          </li>
        ))}
      </ul>
    </Empty>
  );
}
