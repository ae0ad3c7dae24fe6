import { redirect } from "next/navigation";

interface Props {
  readonly searchParams: Promise<Readonly<Record<string, string | readonly string[] | undefined>>>;
}

/** Redirects to the page where a plan is chosen. */
export default async function ApplyPage({ searchParams }: Props) {
  const { cluster } = await searchParams;
  redirect(typeof cluster === "string" ? `/history?cluster=${encodeURIComponent(cluster)}` : "/history");
}
