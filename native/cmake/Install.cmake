# `cmake --install` lays out bin/ranking-task and, of OpenVINO, only what the openvino Task loads: the runtime, the CPU plugin and the
# readers of IR and ONNX. libopenvino looks for its plugins beside itself.
install(TARGETS ranking-task RUNTIME DESTINATION bin)
set_target_properties(ranking-task PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/ranking")

if(RANKING_WITH_OPENVINO)
  find_package(OpenVINO 2026.4 REQUIRED COMPONENTS Runtime)
  get_target_property(openvino_library openvino::runtime IMPORTED_LOCATION_RELEASE)
  get_filename_component(openvino_folder ${openvino_library} DIRECTORY)
  file(GLOB openvino_files
    ${openvino_folder}/libopenvino.so.* ${openvino_folder}/libopenvino_*_cpu_plugin.so
    ${openvino_folder}/libopenvino_ir_frontend.so.* ${openvino_folder}/libopenvino_onnx_frontend.so.*
    ${openvino_folder}/libtbb.so.*)
  install(PROGRAMS ${openvino_files} DESTINATION lib/ranking)
endif()
