import { cookies } from "next/headers";
import { sessionCookieName } from "@/server/auth/sessionCookie";
import { runtime } from "@/server/runtime";

/** The signed-in person of the page being rendered; null if there is none. For layouts and pages. */
export async function currentSession(): Promise<{ readonly name: string } | null> {
  const jar = await cookies();
  return runtime().sessionOf(jar.toString() === "" ? null : `${sessionCookieName}=${jar.get(sessionCookieName)?.value ?? ""}`);
}
