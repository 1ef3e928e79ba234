/** A message to the browser's other tabs, which have the same cookie. `in`: any user signed in. */
type News = 'in' | 'out'

const tabs = new BroadcastChannel('fairlead-session')

/** Reports a sign-in or sign-out to the other tabs. */
export function tellTabs(news: News): void {
  tabs.postMessage(news)
}

/** Calls `listener` on messages of other tabs. */
export function hearTabs(listener: (news: News) => void): void {
  tabs.onmessage = ({ data }: MessageEvent<News>) => listener(data)
}
