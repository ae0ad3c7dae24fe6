"use client";

import { useEffect, useState } from "react";
import { keepPageToken, pageToken } from "../api/pageToken";
import { takeWantedPage } from "../api/signInPage";
import { Button } from "../ui/Button";

type State = { readonly kind: "waiting" | "signing-in" | "used" | "unanswered" } | { readonly kind: "asking"; readonly token: string };

const sentences: Readonly<Record<"signing-in" | "used" | "unanswered", string>> = {
  "signing-in": "Signing in…",
  used: "The link was already used, has expired, or belongs to another studio. Each link signs in once, within an hour.",
  unanswered: "The studio does not answer. Open the link again once it runs.",
};

/**
 * Trades the token in the address of a sign-in link for a session, and goes on to the page that was asked for. A browser that is signed in
 * already is asked first: a link from somebody else would make it act in that person's name.
 */
export function RedeemLink() {
  const [state, setState] = useState<State>({ kind: "waiting" });
  useEffect(() => {
    const read = (): void => {
      const token = new URLSearchParams(window.location.hash.slice(1)).get("token");
      if (token === null) return;
      // The token must not stay in the history, and is read once.
      window.history.replaceState(null, "", window.location.pathname);
      if (pageToken() === null) void redeem(token, setState);
      else setState({ kind: "asking", token });
    };
    read();
    // A link that is opened in this tab changes the fragment alone.
    window.addEventListener("hashchange", read);
    return () => window.removeEventListener("hashchange", read);
  }, []);
  if (state.kind === "waiting") return null;
  if (state.kind === "asking")
    return (
      <div role="alert" className="flex flex-col items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
        <p>This browser is signed in already. Use this link only if it is yours: you would act as the person it was made for.</p>
        <Button onClick={() => void redeem(state.token, setState)}>Sign in with this link</Button>
      </div>
    );
  return (
    <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
      {sentences[state.kind]}
    </p>
  );
}

async function redeem(token: string, show: (state: State) => void): Promise<void> {
  show({ kind: "signing-in" });
  const outcome = await redeemed(token);
  if (outcome === "done") window.location.replace(takeWantedPage() ?? "/plan");
  else show({ kind: outcome });
}

async function redeemed(token: string): Promise<"done" | "used" | "unanswered"> {
  try {
    const response = await fetch("/api/sign-in", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (!response.ok) return response.status === 401 ? "used" : "unanswered";
    keepPageToken(((await response.json()) as { readonly pageToken: string }).pageToken);
    return "done";
  } catch {
    return "unanswered";
  }
}
