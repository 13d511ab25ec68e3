/** Services of the manifest with what they print, and every port that programs of the box listen on. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ServiceStatus } from "../../../src/contract/link/messages.ts";
import { client } from "../api/client.ts";
import { useLiveEvents } from "../api/live.ts";
import { useBox, useBoxName } from "../box/use-box.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Empty, ErrorNote, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { Ports } from "./ports.tsx";
import { ServiceLog } from "./service-log.tsx";

const tones = {
  ready: { tone: "good" },
  starting: { tone: "info" },
  waiting: { tone: "info" },
  backing_off: { tone: "warn" },
  stopped: {},
  failed: { tone: "bad" },
} as const;

export function ServicesPage() {
  const box = useBoxName();
  const phase = useBox(box).data?.box.state.phase;
  if (phase !== undefined && phase !== "running")
    return (
      <Empty title="The box is not running">
        <p>Start it to see its services and ports.</p>
      </Empty>
    );
  return (
    <div className="files-and-services">
      <section className="parts-stack" aria-labelledby="files-services">
        <h2 id="files-services">Services</h2>
        <Services box={box} />
      </section>
      <section className="parts-stack" aria-labelledby="files-ports">
        <h2 id="files-ports">Ports</h2>
        <Ports box={box} />
      </section>
    </div>
  );
}

function Services({ box }: { box: string }) {
  const [shown, setShown] = useState<string>();
  const { data, error, refetch } = useQuery({
    queryKey: ["files-and-services", box, "services"],
    queryFn: () => client.listSessions(box),
  });
  useLiveEvents(
    ({ type }) => {
      if (type === "service.changed" || type.startsWith("box.")) void refetch();
    },
    { box },
  );
  if (data === undefined)
    return error ? <ErrorNote error={error} /> : <Skeleton height={120} label="Loading the services" />;
  if (data.services.length === 0)
    return (
      <Empty title="No services">
        <p>
          A manifest can start some with the box: <code>[services.web]</code> in agentbox.toml.
        </p>
      </Empty>
    );
  return (
    <>
      <ul className="files-services">
        {data.services.map((service) => (
          <li key={service.name} className="parts-card files-service">
            <Service service={service} />
            <Button
              aria-expanded={shown === service.name}
              aria-label={`Output of ${service.name}`}
              onClick={() => setShown(shown === service.name ? undefined : service.name)}
            >
              {shown === service.name ? "Hide output" : "Output"}
            </Button>
          </li>
        ))}
      </ul>
      {shown === undefined ? null : <ServiceLog key={shown} box={box} service={shown} />}
    </>
  );
}

function Service({ service: { name, state, restarts, exitCode, message } }: { service: ServiceStatus }) {
  const facts = [
    restarts > 0 ? `${restarts} ${restarts === 1 ? "restart" : "restarts"}` : "",
    exitCode === null ? "" : `ended with ${exitCode}`,
    message,
  ].filter((fact) => fact !== "");
  return (
    <div className="files-service-facts">
      <strong className="mono">
        <Visible text={name} />
      </strong>
      <Badge {...tones[state]}>{state.replace("_", " ")}</Badge>
      <span className="small quiet">
        <Visible text={facts.join(" · ")} />
      </span>
    </div>
  );
}
