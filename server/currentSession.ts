import { headers } from "next/headers";
import { runtime } from "@/server/runtime";

/** The signed-in person of the page being rendered; null if there is none. For layouts and pages. */
export async function currentSession(): Promise<{ readonly name: string } | null> {
  return runtime().sessionOf((await headers()).get("cookie"));
}
