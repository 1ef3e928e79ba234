/** Commands of common programs to copy, without the password. */
export function examples(
  address: string,
  isTls: boolean,
): readonly { readonly name: string; readonly text: string }[] {
  const at = address.lastIndexOf(':')
  const [host, port] = [address.slice(0, at), address.slice(at + 1)]
  const scheme = isTls ? 'rediss' : 'redis'
  const url = `${scheme}://default@${address}`
  return [
    { name: 'cli', text: `valkey-cli -h ${host} -p ${port}${isTls ? ' --tls' : ''} --askpass` },
    { name: 'ioredis', text: `new Redis('${url}', { password })` },
    { name: 'redis-py', text: `redis.Redis.from_url("${url}", password=password)` },
    {
      name: 'go',
      text: `redis.NewClient(&redis.Options{\n  Addr: "${address}", Password: password,${isTls ? ' TLSConfig: &tls.Config{},' : ''}\n})`,
    },
    {
      name: 'java',
      text: `RedisClient.create(RedisURI.builder()\n  .withHost("${host}").withPort(${port})${isTls ? '.withSsl(true)' : ''}\n  .withPassword(password).build())`,
    },
  ]
}
