"use client";

import { useEffect, useRef, useState } from "react";
import { keepPageToken } from "../api/pageToken";
import { takeWantedPage } from "../api/signInPage";

type State = "waiting" | "signing-in" | "used" | "unanswered";

const sentences: Readonly<Record<Exclude<State, "waiting">, string>> = {
  "signing-in": "Signing in…",
  used: "The link was already used, has expired, or belongs to another studio. Each link signs in once, within an hour.",
  unanswered: "The studio does not answer. Open the link again once it runs.",
};

/** Trades the token in the address of a sign-in link for a session, and goes on to the page that was asked for. */
export function RedeemLink() {
  const [state, setState] = useState<State>("waiting");
  const started = useRef(false);
  useEffect(() => {
    const token = new URLSearchParams(window.location.hash.slice(1)).get("token");
    // Effects run twice in development; a token works once.
    if (token === null || started.current) return;
    started.current = true;
    setState("signing-in");
    // The token must not stay in the history.
    window.history.replaceState(null, "", "/sign-in");
    void redeem(token).then((outcome) => {
      if (outcome === "done") window.location.replace(takeWantedPage() ?? "/plan");
      else setState(outcome);
    });
  }, []);
  if (state === "waiting") return null;
  return (
    <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
      {sentences[state]}
    </p>
  );
}

async function redeem(token: string): Promise<"done" | "used" | "unanswered"> {
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
