import { type ReactNode, useContext, useEffect, useId, useRef } from 'react'
import { EndedContext } from '../live/permissions.ts'

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
