# Sidekiq: see queues.ts.

require "cgi"
require "sidekiq"

host, port, password = ENV.values_at("HOST", "PORT", "PASSWORD")
url = "redis://default:#{CGI.escape(password)}@#{host}:#{port}/0"
Sidekiq.configure_server { |config| config.redis = { url: url } }
Sidekiq.configure_client { |config| config.redis = { url: url } }
Sidekiq.logger = Sidekiq::Logger.new($stderr, level: Logger::WARN)
Redis.silence_deprecations = true

class Job
  include Sidekiq::Worker
  sidekiq_options retry: false

  def perform(n)
    File.open(ENV["EFFECTS"], "a") { |effects| effects.write("#{n}\n") }
  end
end

if ARGV[0] == "produce"
  n = 0
  until IO.select([$stdin], nil, nil, 0.01)
    n += 1
    Job.perform_async(n)
    puts n
    $stdout.flush
  end
end
