# The tests that stand beside the state's code. Included from the directory above.

add_library(linkvane_state_testing STATIC
  state/testing/fence_play.cc)
target_link_libraries(linkvane_state_testing
  PUBLIC linkvane_state
  PRIVATE linkvane_options)

linkvane_test(state_fence_model_test
  SOURCES state/fence_model_test.cc
  LIBRARIES linkvane_state_testing)

set(tests fenced_table)
foreach(test IN LISTS tests)
  linkvane_test(state_${test}_test
    SOURCES state/${test}_test.cc
    LIBRARIES linkvane_state_testing)
endforeach()
