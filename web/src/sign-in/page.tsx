/** The page for visitors without a session, which is also the target of the provider's answer. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { readSignInOptions, beginSignIn, callbackPath, finishSignIn } from "./sign-in.ts";

const command = "agentbox open";

function Frame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <h1 className="sign-in-title">
          <img src="/icon.svg" alt="" width="28" height="28" />
          {title}
        </h1>
        {children}
      </div>
    </main>
  );
}

/** The button has its place from the start, so that nothing moves when the provider's name comes. */
function ProviderButton() {
  const { data, isPending } = useQuery({
    queryKey: ["sign-in-options"],
    queryFn: readSignInOptions,
    retry: false,
  });
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  if (isPending) return <Skeleton height={40} label="Looking for ways to sign in" />;
  if (data?.provider === undefined) return null;
  const begin = (): void => {
    setBusy(true);
    setError(undefined);
    beginSignIn().catch((reason: unknown) => {
      setBusy(false);
      setError(reason);
    });
  };
  return (
    <>
      <Button kind="primary" className="sign-in-button" isBusy={isBusy} onClick={begin}>
        Sign in with {data.provider}
      </Button>
      {error === undefined ? null : <ErrorNote error={error} />}
      <p className="sign-in-or quiet">or, if this is your own machine</p>
    </>
  );
}

export function SignInPage({ isLinkRefused }: { isLinkRefused: boolean }) {
  if (location.pathname === callbackPath) return <CallbackPage />;
  return (
    <Frame title="Sign in to AgentBox">
      {isLinkRefused ? (
        <Note tone="warn">This link was opened already, or is older than five minutes. Make a new one.</Note>
      ) : null}
      <ProviderButton />
      <p>Run this where AgentBox runs. It opens this page with a link that works once:</p>
      <p className="sign-in-command">
        <code>{command}</code>
        <CopyButton text={command} label="Copy the command" />
      </p>
      <p className="quiet small">Did a person share a box with you? Open the link that they sent.</p>
    </Frame>
  );
}

export function CallbackPage() {
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    finishSignIn().then((path) => location.replace(path), setError);
  }, []);
  if (error === undefined) {
    return (
      <Frame title="Signing in">
        <Skeleton height={40} label="Asking the provider" />
      </Frame>
    );
  }
  return (
    <Frame title="Not signed in">
      <ErrorNote error={error} />
      <p>
        <a href="/">Back to the sign-in page</a>
      </p>
    </Frame>
  );
}
