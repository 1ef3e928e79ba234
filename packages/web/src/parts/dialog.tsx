import type { UseMutationResult } from '@tanstack/react-query'
import { type ReactNode, useContext, useEffect, useId, useRef, useState } from 'react'
import { useIsStale } from '../live/live-state.ts'
import { EndedContext } from '../live/permissions.ts'
import { Problem } from './problem.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** The first has the focus. */
  readonly buttons?: ReactNode
  readonly className?: string
}

/** A question before an order. Escape means no. */
export function Dialog({ title, onClose, children, buttons, className = '' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const isEnded = useContext(EndedContext)
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  // An open dialog would block the keys of the sign-in.
  useEffect(() => {
    if (isEnded) onClose()
  }, [isEnded, onClose])
  return (
    <dialog
      ref={element}
      className={`dialog ${className}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={heading}>{title}</h2>
      <div className="dialog-body">{children}</div>
      {buttons !== undefined && <div className="dialog-buttons">{buttons}</div>}
    </dialog>
  )
}

interface DeleteButtonProps {
  readonly name: string
  /** Default: "Delete…", quietly, with the name for screen readers. */
  readonly label?: string
  readonly remove: UseMutationResult<unknown, Error, void>
  /** Loss that the user has to accept. */
  readonly children: ReactNode
}

/** Deletes after a question, and shows a refusal. The focus is on the harmless answer. */
export function DeleteButton({ name, label, remove, children }: DeleteButtonProps) {
  const [isAsked, ask] = useState(false)
  const isStale = useIsStale()
  const close = () => ask(false)
  const confirm = () => {
    close()
    remove.mutate()
  }
  const buttons = (
    <>
      {/* biome-ignore lint/a11y/noAutofocus: the focus is on the button that changes nothing */}
      <button type="button" className="button" autoFocus onClick={close}>
        Keep
      </button>
      <button type="button" className="button button-bad" onClick={confirm}>
        Delete
      </button>
    </>
  )
  return (
    <>
      <button
        type="button"
        className={label === undefined ? 'button button-quiet' : 'button'}
        disabled={isStale || remove.isPending}
        aria-label={label === undefined ? `Delete ${name}` : undefined}
        onClick={() => ask(true)}
      >
        {label ?? 'Delete…'}
      </button>
      {remove.error !== null && <Problem error={remove.error} />}
      {isAsked && (
        <Dialog title={`Delete ${name}?`} onClose={close} buttons={buttons}>
          {children}
        </Dialog>
      )}
    </>
  )
}
