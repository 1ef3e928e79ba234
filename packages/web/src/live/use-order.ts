import { type UseMutationOptions, type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

/** A mutation that never runs twice at a time: a fast second click may precede the button's new state. */
export function useOrder<Answer, Sent = void>(
  options: UseMutationOptions<Answer, Error, Sent>,
): UseMutationResult<Answer, Error, Sent> {
  const isUnderWay = useRef(false)
  const mutation = useMutation({
    ...options,
    onSettled: (...settled) => {
      isUnderWay.current = false
      return options.onSettled?.(...settled)
    },
  })
  const mutate: typeof mutation.mutate = (...sent) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    mutation.mutate(...sent)
  }
  return { ...mutation, mutate }
}
