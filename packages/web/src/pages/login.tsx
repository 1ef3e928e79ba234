import { ApiError } from '@fairlead/api'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { api, changePassword } from '../live/api.ts'
import { Brand } from '../parts/brand.tsx'
import { Problem } from '../parts/problem.tsx'

type Entered = Readonly<Record<'username' | 'password' | 'next', string>>

/** The sign-in, in front of the page after a session's end. Also changes an expired password. */
export function Login({ isBack, onDone }: { readonly isBack: boolean; readonly onDone: () => void }) {
  const [isExpired, setExpired] = useState(false)
  const name = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const before = document.title
    document.title = 'Sign in · Fairlead'
    name.current?.focus()
    return () => {
      document.title = before
    }
  }, [])
  const enter = useMutation({
    mutationFn: (entered: Entered) => signIn(entered, isExpired),
    onSuccess: onDone,
    onError: (error) => setExpired((was) => was || codeOf(error) === 'password_expired'),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const read = (field: string) => String(form.get(field) ?? '')
    enter.mutate({ username: read('username'), password: read('password'), next: read('next') })
  }
  return (
    <main className="login" data-over={isBack}>
      <form className="login-card" onSubmit={submit}>
        <div className="login-brand">
          <Brand />
          <h1>Fairlead</h1>
        </div>
        {isBack && <p className="muted">Your session has ended. The page goes on when you have signed in.</p>}
        <Fields name={name} isExpired={isExpired} />
        {enter.error !== null && <Problem error={enter.error} />}
        <button type="submit" className="button button-main" disabled={enter.isPending}>
          {isExpired ? 'Change the password and sign in' : 'Sign in'}
        </button>
        <Help />
      </form>
    </main>
  )
}

/** The place of the first password, and the way to a new one. */
function Help() {
  return (
    <p className="muted">
      The first start of the server printed the password of <b>admin</b>, once, where it was started. Lost? On
      that machine, <code>fairlead users reset-password admin</code> makes a new one. Others ask an admin.
    </p>
  )
}

function Fields(props: { readonly name: RefObject<HTMLInputElement | null>; readonly isExpired: boolean }) {
  const { name, isExpired } = props
  return (
    <>
      <label>
        Name
        <input ref={name} name="username" autoComplete="username" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      {isExpired && (
        <label>
          New password
          <input name="next" type="password" autoComplete="new-password" required minLength={8} />
        </label>
      )}
    </>
  )
}

async function signIn({ username, password, next }: Entered, isExpired: boolean): Promise<void> {
  if (!isExpired) return void (await api.beginSession({ body: { username, password } }))
  await changePassword(username, password, next)
  await api.beginSession({ body: { username, password: next } })
}

function codeOf(error: Error): string | undefined {
  return error instanceof ApiError ? error.code : undefined
}
