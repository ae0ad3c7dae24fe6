import Link from "next/link";

export default function NotFound() {
  return (
    <main className="mx-auto flex max-w-md flex-col gap-3 p-8 pt-24">
      <h1 className="text-xl font-semibold">Page not found</h1>
      <p className="text-ink-2">The address may be from an older version, or the plan or workload it names was removed.</p>
      <Link href="/plan" className="font-medium text-accent underline underline-offset-2">
        Go to the Plan page
      </Link>
    </main>
  );
}
