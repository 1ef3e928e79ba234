/** A fairlead: a ring that guides a rope. */
export function Brand() {
  return (
    <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true" fill="none">
      <circle cx="16" cy="16" r="8.5" stroke="currentColor" strokeWidth="4" />
      <path d="M2 23 30 9" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
    </svg>
  )
}
