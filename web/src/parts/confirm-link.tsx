import { useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Visible } from "./visible.tsx";

/** SECURITY: an address from a box is text until a person has seen all of it; only web pages are ever opened. */
function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === "https:" || protocol === "http:";
}

export function LinkQuestion({ url, onClose }: { url: string | undefined; onClose: () => void }) {
  const address = url !== undefined && isWebAddress(url) ? new URL(url) : undefined;
  return (
    <Dialog
      title="Open this address?"
      isOpen={url !== undefined}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {address === undefined ? null : (
            <a
              className="parts-button parts-button-primary"
              href={address.href}
              target="_blank"
              rel="noopener noreferrer"
              onClick={onClose}
            >
              Open {address.host}
            </a>
          )}
        </>
      }
    >
      <p>It comes from the box. This is where it leads:</p>
      <code>
        <Visible text={address?.href ?? url ?? ""} />
      </code>
      {address === undefined ? <p>It is not the address of a web page, so it cannot be opened.</p> : null}
    </Dialog>
  );
}

export function ConfirmLink({ url }: { url: string }) {
  const [asked, setAsked] = useState<string>();
  if (!isWebAddress(url)) return <Visible text={url} />;
  return (
    <>
      <Button kind="quiet" onClick={() => setAsked(url)}>
        <Visible text={url} />
      </Button>
      <LinkQuestion url={asked} onClose={() => setAsked(undefined)} />
    </>
  );
}
