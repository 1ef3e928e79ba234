/** What a tab tells the others of the same browser, which have the same cookie. `in`: of whichever user. */
type News = 'in' | 'out'

const tabs = new BroadcastChannel('fairlead-session')

/** Tells the other tabs that a user has signed in or out here. */
export function tellTabs(news: News): void {
  tabs.postMessage(news)
}

/** Calls `listener` when another tab tells it. */
export function hearTabs(listener: (news: News) => void): void {
  tabs.onmessage = ({ data }: MessageEvent<News>) => listener(data)
}
