"use client";

import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import type { EndpointToTry } from "@/server/contracts/studio";
import { isUnanswered } from "../api/isUnanswered";
import { useTRPCClient } from "../api/trpc";
import { useDebounced } from "../ui/useDebounced";
import { afterAct, type EndpointAttempt, noAttempt } from "./endpointAttempt";

/** Replaces a key that is not shown; the studio reads it as an omitted key and says so. */
const LEFT_OUT = "left-out";

/** A variable, which names a key and is not a key itself. */
const isVariable = (token: string): boolean => /^\$\{?\w+\}?$/.test(token);

const blank = (whole: string, before: string, token: string): string => (isVariable(token) ? whole : `${before}${LEFT_OUT}`);

/**
 * Pasted text without its keys: they stay in the browser, because the tested text is part of an address. Lines keep their numbers.
 *
 * @example withoutKeys("curl -H 'Authorization: Bearer sk-1' http://gpu-1:8000") // curl -H 'Authorization: Bearer left-out' http://gpu-1:8000
 */
export function withoutKeys(text: string): string {
  return text
    .replace(/(authorization:\s*(?:(?:bearer|basic|token)\s+)?)([^\s"'\\]+)/gi, blank)
    .replace(/((?:x-)?api-key\s*[:=]\s*)([^\s"'\\]+)/gi, blank)
    .replace(/((?:^|\s)(?:-u|--user|--oauth2-bearer)[\s=]+["']?)([^\s"'\\]+)/gim, blank)
    .replace(/(https?:\/\/)([^\s/@"']+@)/gi, `$1${LEFT_OUT}@`)
    .replace(/()\b((?:sk|hf|gsk|nvapi|glpat|ghp)[-_][A-Za-z0-9_-]{8,})/g, blank);
}

/** Long enough not to test a typed address letter by letter, short enough to read a paste at once. */
const STILL_MS = 400;

/** What goes into an address, encoded; servers take some 16 kB with everything else in it. */
const MOST_ENCODED = 12_000;

export interface EndpointTry {
  readonly attempt: EndpointAttempt;
  /** Why nothing arrives at the moment: the studio does not answer, or refused; null: no problem. */
  readonly fault: string | null;
  /** Tests some endpoints again with the access settings entered. `generate`: with one token each. */
  readonly tryAgain: (endpoints: readonly EndpointToTry[], options?: { readonly generate: boolean }) => void;
}

/** Tests the addresses in a text once it has not changed for a moment. Changing the text or leaving the page cancels tests in progress. */
export function useEndpointTry(text: string): EndpointTry {
  const client = useTRPCClient();
  const [attempt, act] = useReducer(afterAct, noAttempt);
  const [fault, setFault] = useState<string | null>(null);
  const apart = useRef(new Set<{ unsubscribe(): void }>());
  const still = useDebounced(text, STILL_MS);

  const subscribe = useCallback(
    (asked: readonly EndpointToTry[] | null, input: Parameters<typeof client.clusters.tryEndpoints.subscribe>[0]) => {
      const tooLong = encodeURIComponent(JSON.stringify(input)).length > MOST_ENCODED;
      if (tooLong) {
        setFault("That is more than can be tried at once: paste about 150 addresses, attach them, and add the others to its connection.");
        return { unsubscribe: () => {} };
      }
      setFault(null);
      act({ kind: "begin", asked });
      const end = (): void => {
        subscription.unsubscribe();
        act({ kind: "ended", asked });
      };
      const subscription = client.clusters.tryEndpoints.subscribe(input, {
        onData: (event) => act({ kind: "heard", asked, event }),
        onComplete: () => act({ kind: "ended", asked }),
        onError: (error) => {
          setFault(error.message);
          end();
        },
        // The link reconnects by itself: a studio that is unreachable is waited for; its own refusal would only repeat.
        onConnectionStateChange: ({ error }) => {
          if (error === null) return setFault(null);
          if (isUnanswered(error)) return setFault("The studio does not answer; addresses are tried once it does.");
          setFault(error.message);
          end();
        },
      });
      return subscription;
    },
    [client],
  );

  useEffect(() => {
    if (still.trim() === "") {
      setFault(null);
      return act({ kind: "cleared" });
    }
    const subscription = subscribe(null, { text: withoutKeys(still) });
    return () => subscription.unsubscribe();
  }, [still, subscribe]);

  useEffect(() => {
    const running = apart.current;
    return () => {
      for (const subscription of running) subscription.unsubscribe();
    };
  }, []);

  const tryAgain = useCallback<EndpointTry["tryAgain"]>(
    (endpoints, { generate } = { generate: false }) => {
      if (endpoints.length > 0) apart.current.add(subscribe(endpoints, { endpoints: [...endpoints], generate }));
    },
    [subscribe],
  );
  return { attempt, fault, tryAgain };
}
