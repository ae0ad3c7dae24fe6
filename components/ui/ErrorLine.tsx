/** Why something was refused or failed; renders nothing if it was not. */
export function ErrorLine({ error }: { readonly error: { readonly message: string } | null }) {
  return (
    error !== null && (
      <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere]">
        {error.message}
      </p>
    )
  );
}
